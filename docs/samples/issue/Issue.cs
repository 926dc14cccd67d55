// usage: ECF_API=… ECF_KEY=… Issue < invoice.json
using System;
using System.Net.Http;
using System.Text;
using System.Threading.Tasks;

class Issue
{
    static int Main()
    {
        return Run().GetAwaiter().GetResult();
    }

    static async Task<int> Run()
    {
        using (var http = new HttpClient { Timeout = TimeSpan.FromSeconds(30) })
        {
            http.DefaultRequestHeaders.Add("X-API-Key", Environment.GetEnvironmentVariable("ECF_KEY"));
            var body = new StringContent(await Console.In.ReadToEndAsync(), Encoding.UTF8, "application/json");
            var response = await http.PostAsync(Environment.GetEnvironmentVariable("ECF_API") + "/api/v1/ecf", body);
            var answer = await response.Content.ReadAsStringAsync();
            if (!response.IsSuccessStatusCode)
            {
                Console.Error.WriteLine((int)response.StatusCode + ": " + answer);
                return 1;
            }
            Console.WriteLine(answer);
            return 0;
        }
    }
}
